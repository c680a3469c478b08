# SPDX-License-Identifier: Apache-2.0

"""Sends pushes through aioapns, a Python client, and prints the number of pushes with each status, then the
result of one push to each given device.

Usage: aioapns_peer.py PORT CA-FILE CREDENTIALS-FILE COUNT [DEVICE-TOKEN…]

The credentials are a signing key, or a certificate with its key.
"""

import asyncio
import collections
import ssl
import sys

import aioapns


# One connection: on an additional connection opened under load, aioapns sends before it has received the server's stream
# limit, and waits ten seconds for the refused streams.
async def main(port, authority, credentials_file, count, device_tokens):
    context = ssl.create_default_context(cafile=authority)
    context.set_alpn_protocols(["h2"])
    options = {"topic": "com.example.app", "max_connections": 1, "ssl_context": context}
    with open(credentials_file) as file:
        credentials = file.read()
    if "BEGIN CERTIFICATE" in credentials:
        apns = aioapns.APNs(client_cert=credentials_file, **options)
    else:
        apns = aioapns.APNs(key=credentials, key_id="ABC123DEFG", team_id="DEF123GHIJ", **options)
    apns.pool.protocol_class.APNS_SERVER = "localhost"
    apns.pool.protocol_class.APNS_PORT = port

    async def send(device_token, text):
        return await apns.send_notification(aioapns.NotificationRequest(
            device_token=device_token, message={"aps": {"alert": text}}, push_type=aioapns.PushType.ALERT))

    async def push(number):
        return (await send(f"{number:064x}", f"push {number}")).status

    # Send the first push alone: APNs allows one stream until it has verified a provider token.
    statuses = [await push(0)]
    statuses += await asyncio.gather(*[push(number) for number in range(1, count)])
    for status, times in collections.Counter(statuses).items():
        print(status, times)
    for device_token in device_tokens:
        result = await send(device_token, "one more")
        print(result.status, result.description, result.timestamp or "")


asyncio.run(main(int(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4]), sys.argv[5:]))
