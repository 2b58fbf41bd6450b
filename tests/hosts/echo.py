"""Datagrams there and back, to measure a link of the test hosts.

usage: echo.py serve                 sends back whatever comes
       echo.py ask ADDRESS COUNT     prints the answered ones' mean round trip in ms, and how many"""

import socket
import sys
import time

PORT = 7007
PATIENCE_S = 0.1

with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as end:
    if sys.argv[1] == "serve":
        end.bind(("", PORT))
        print("ready", flush=True)
        while True:
            message, sender = end.recvfrom(64)
            end.sendto(message, sender)
    end.settimeout(PATIENCE_S)
    trips = []
    for number in range(int(sys.argv[3])):
        began = time.monotonic()
        end.sendto(str(number).encode(), (sys.argv[2], PORT))
        try:
            while end.recv(64) != str(number).encode():
                pass
            trips.append(time.monotonic() - began)
        except TimeoutError:
            pass
    print(1000 * sum(trips) / len(trips) if trips else "none", len(trips))
