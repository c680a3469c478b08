"""Sends pushes through aioapns, a client in Python, and prints how many were answered with each status.

Usage: aioapns_peer.py PORT CA-FILE CREDENTIALS-FILE COUNT

The credentials are the key of provider tokens, or a certificate with its key.
"""

import asyncio
import collections
import ssl
import sys

import aioapns


# One connection: on a further one, opened under load, aioapns sends before it has read how many streams the server
# allows, and waits ten seconds for the streams that the server refused.
async def main(port, authority, credentials_file, count):
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

    async def push(number):
        result = await apns.send_notification(aioapns.NotificationRequest(
            device_token=f"{number:064x}", message={"aps": {"alert": f"push {number}"}},
            push_type=aioapns.PushType.ALERT))
        return result.status

    # The first one alone, as APNs allows one stream until it has seen a token.
    statuses = [await push(0)]
    statuses += await asyncio.gather(*[push(number) for number in range(1, count)])
    for status, times in collections.Counter(statuses).items():
        print(status, times)


asyncio.run(main(int(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4])))
