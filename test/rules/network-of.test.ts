// What a limit of a network address counts together.
import { expect, it } from "vitest";
import { networkOf } from "../../shared/rules/network-of.ts";

it.each([
  ["2001:db8:0:1:a:b:c:d", "2001:db8:0:1::/64"],
  ["2001:DB8::1", "2001:db8:0:0::/64"],
  ["2001:db8:0:1::", "2001:db8:0:1::/64"],
  ["::1", "0:0:0:0::/64"],
  ["198.51.100.7", "198.51.100.7"],
  ["::ffff:198.51.100.7", "::ffff:198.51.100.7"],
  ["::ffff:c633:6407", "198.51.100.7"],
  ["fe80::1%eth0", "fe80::1%eth0"],
  ["unknown", "unknown"],
])("%s is counted as %s (OPS-2)", (address, network) => {
  expect(networkOf(address)).toBe(network);
});
