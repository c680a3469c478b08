"""Sends pushes through aioapns, a client in Python, and prints how many were answered with each status, then what it
makes of the answer for each of the devices that are named.

Usage: aioapns_peer.py PORT CA-FILE CREDENTIALS-FILE COUNT [DEVICE-TOKEN…]

The credentials are the key of provider tokens, or a certificate with its key.
"""

import asyncio
import collections
import ssl
import sys

import aioapns


# One connection: on a further one, opened under load, aioapns sends before it has read how many streams the server
# allows, and waits ten seconds for the streams that the server refused.
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

    # The first one alone, as APNs allows one stream until it has seen a token.
    statuses = [await push(0)]
    statuses += await asyncio.gather(*[push(number) for number in range(1, count)])
    for status, times in collections.Counter(statuses).items():
        print(status, times)
    for device_token in device_tokens:
        result = await send(device_token, "one more")
        print(result.status, result.description, result.timestamp or "")


asyncio.run(main(int(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4]), sys.argv[5:]))
