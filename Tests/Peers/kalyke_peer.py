# SPDX-License-Identifier: Apache-2.0

"""Sends pushes through kalyke-apns, a Python client, and prints the result of each.

Usage: kalyke_peer.py PORT KEY-FILE DEVICE-TOKEN…

Overrides the address, because the client supports only Apple's hosts. SSL_CERT_FILE selects the trusted authority.
"""

import asyncio
import sys

from kalyke import ApnsClient, ApnsConfig, ApnsPushType, Payload, PayloadAlert
from kalyke.exceptions import ApnsProviderException


async def main(port, key_file, device_tokens):
    class Client(ApnsClient):
        _base_url = f"https://localhost:{port}"

    client = Client(use_sandbox=True, team_id="DEF123GHIJ", auth_key_id="ABC123DEFG", auth_key_filepath=key_file)
    payload = Payload(alert=PayloadAlert(title="Order ready"), badge=1)
    config = ApnsConfig(topic="com.example.app", push_type=ApnsPushType.ALERT)
    for device_token in device_tokens:
        try:
            await client.send_message(device_token=device_token, payload=payload, apns_config=config)
            print("accepted")
        except ApnsProviderException as error:
            print(type(error).__name__)


asyncio.run(main(int(sys.argv[1]), sys.argv[2], sys.argv[3:]))
