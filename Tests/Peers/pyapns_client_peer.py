# SPDX-License-Identifier: Apache-2.0

"""Sends pushes through pyapns_client, a Python client based on httpx, and prints the number of pushes with each result.

Usage: pyapns_client_peer.py PORT CA-FILE KEY-FILE COUNT [DEVICE-TOKEN…]

Then prints the result of one push to each given device.
"""

import collections
import concurrent.futures
import sys

import pyapns_client

CLIENTS = 8


def main(port, authority, key_file, count, device_tokens):
    pyapns_client.APNSClient.BASE_URLS["local"] = f"https://localhost:{port}"
    payload = pyapns_client.IOSPayload(alert=pyapns_client.IOSPayloadAlert(title="Order ready"))
    notification = pyapns_client.IOSNotification(payload=payload, topic="com.example.app")

    def push(device_tokens):
        # A client cannot be shared between threads.
        client = pyapns_client.APNSClient("local", authority, key_file, "ABC123DEFG", "DEF123GHIJ")
        results = []
        for device_token in device_tokens:
            try:
                client.push(notification, device_token)
                results.append("accepted")
            except pyapns_client.APNSException as error:
                results.append(type(error).__name__.removesuffix("Exception"))
        client.close()
        return results

    shares = [[f"{number:064x}" for number in range(first, count, CLIENTS)] for first in range(CLIENTS)]
    with concurrent.futures.ThreadPoolExecutor(CLIENTS) as pool:
        results = [result for share in pool.map(push, shares) for result in share]
    for result, times in collections.Counter(results).items():
        print(result, times)
    for result in push(device_tokens):
        print(result)


main(int(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4]), sys.argv[5:])
