// Which IP addresses a request may go to: those of the public Internet and no others (docs/decisions/0010).
import { BlockList, isIPv4, isIPv6 } from "node:net";

/** Everything that is not a host of the public Internet, or leads to one by translation. */
const REFUSED_V4: readonly [network: string, prefix: number][] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  // The platform of another cloud answers its virtual machines here.
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

/** Of IPv6 only 2000::/3 is given out; these parts of it are special, translated or documentation. */
const REFUSED_V6: readonly [network: string, prefix: number][] = [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["2620:4f:8000::", 48],
  ["3ffe::", 16],
  ["3fff::", 20],
];

const refusedV4 = listOf(REFUSED_V4, "ipv4");
const givenOutV6 = listOf([["2000::", 3]], "ipv6");
const refusedV6 = listOf(REFUSED_V6, "ipv6");

/** Whether an address, as a resolver or a URL spells it, is one of the public Internet; what is not understood is not. */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !refusedV4.check(address, "ipv4");
  if (!isIPv6(address) || address.includes("%") || address.includes(".")) return false;
  return givenOutV6.check(address, "ipv6") && !refusedV6.check(address, "ipv6");
}

function listOf(networks: readonly (readonly [string, number])[], family: "ipv4" | "ipv6"): BlockList {
  const list = new BlockList();
  for (const [network, prefix] of networks) list.addSubnet(network, prefix, family);
  return list;
}
