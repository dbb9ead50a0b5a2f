// Which IP addresses a request may connect to: only those of the public Internet (docs/decisions/0010).
import { BlockList, isIPv4, isIPv6 } from "node:net";

/** Networks that are not of the public Internet, or that are translated to others. */
const REFUSED_V4: readonly [network: string, prefix: number][] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  // The platform address of Azure, reachable from its virtual machines.
  ["168.63.129.16", 32],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.31.196.0", 24],
  ["192.52.193.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["192.175.48.0", 24],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 3],
];

/** Only 2000::/3 of IPv6 is allocated; these parts of it are for special use, translation or documentation. */
const REFUSED_V6: readonly [network: string, prefix: number][] = [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["2620:4f:8000::", 48],
  ["3ffe::", 16],
  ["3fff::", 20],
];

const refusedV4 = listOf(REFUSED_V4, "ipv4");
const allocatedV6 = listOf([["2000::", 3]], "ipv6");
const refusedV6 = listOf(REFUSED_V6, "ipv6");

/** Whether an address, in the form of a resolver or a URL, is of the public Internet; false for any other form. */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !refusedV4.check(address, "ipv4");
  if (!isIPv6(address) || address.includes("%") || address.includes(".")) return false;
  return allocatedV6.check(address, "ipv6") && !refusedV6.check(address, "ipv6");
}

function listOf(networks: readonly (readonly [string, number])[], family: "ipv4" | "ipv6"): BlockList {
  const list = new BlockList();
  for (const [network, prefix] of networks) list.addSubnet(network, prefix, family);
  return list;
}
