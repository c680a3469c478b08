# SPDX-License-Identifier: Apache-2.0

"""Sends pushes through apns2, a Python client, and prints the number of pushes with each result.

Usage: apns2_peer.py PORT CA-FILE KEY-FILE COUNT [DEVICE-TOKEN…]

Then prints the result of one push to each given device.
"""

import collections
import collections.abc
import sys

# The HTTP/2 library of apns2 imports names that Python 3.10 has removed from this module.
for name in collections.abc.__all__:
    setattr(collections, name, getattr(collections.abc, name))

from apns2.client import APNsClient, Notification  # noqa: E402
from apns2.credentials import Credentials, TokenCredentials  # noqa: E402
from apns2.payload import Payload  # noqa: E402
from hyper.tls import init_context  # noqa: E402


def main(port, authority, key_file, count, device_tokens):
    APNsClient.LIVE_SERVER = "localhost"
    APNsClient.DEFAULT_PORT = port
    credentials = TokenCredentials(key_file, "ABC123DEFG", "DEF123GHIJ")
    credentials._Credentials__ssl_context = init_context(cert_path=authority)
    client = APNsClient(credentials)
    payload = Payload(alert="Order ready")

    def push(device_tokens):
        notifications = [Notification(token, payload) for token in device_tokens]
        return list(client.send_notification_batch(notifications, topic="com.example.app").values())

    # Send the first push alone: APNs allows one stream until it has verified a provider token.
    results = push([f"{0:064x}"]) + push([f"{number:064x}" for number in range(1, count)])
    for result, times in collections.Counter(results).items():
        print("accepted" if result == "Success" else result, times)
    for device_token in device_tokens:
        result = push([device_token])[0]
        print(result if isinstance(result, str) else result[0])


main(int(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4]), sys.argv[5:])
