# SPDX-License-Identifier: Apache-2.0

"""Sends pushes through aapns, a Python client with a certificate, and prints the number of pushes with each result.

Usage: aapns_peer.py PORT CA-FILE CERTIFICATE-FILE COUNT [DEVICE-TOKEN…]

The certificate file also contains the key. Then prints the result of one push to each given device.
"""

import asyncio
import collections
import sys

from aapns.api import Server
from aapns.errors import APNSError
from aapns.models import Alert, Notification


async def main(port, authority, certificate, count, device_tokens):
    client = await Server(certificate, "localhost", port, authority).create_client()
    notification = Notification(alert=Alert(body="Order ready"), badge=1)

    async def push(device_token):
        try:
            await client.send_notification(device_token, notification)
            return "accepted"
        except APNSError as error:
            return type(error).__name__

    results = await asyncio.gather(*[push(f"{number:064x}") for number in range(count)])
    for result, times in collections.Counter(results).items():
        print(result, times)
    for device_token in device_tokens:
        print(await push(device_token))
    await client.close()


asyncio.run(main(int(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4]), sys.argv[5:]))
