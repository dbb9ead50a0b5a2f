// The network of a caller, for limits by network address.
import { isIPv6 } from "node:net";

const GROUPS = 8;
/** The groups of the 64 bits that a provider gives to one customer at least. The customer chooses the rest freely. */
const NETWORK_GROUPS = 4;

/**
 * The /64 of an IPv6 address, as `2001:db8:0:1::/64`: one machine has 2^64 addresses there. Any other address is a
 * network by itself, as is an IPv4 address in the form of IPv6 (OPS-2).
 */
export function networkOf(address: string): string {
  if (!isIPv6(address) || address.includes(".") || address.includes("%")) return address;
  const groups = groupsOf(address);
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
  if (isMapped) return groups.slice(6).flatMap(bytesOf).join(".");
  const network = groups.slice(0, NETWORK_GROUPS).map((group) => group.toString(16));
  return `${network.join(":")}::/64`;
}

const bytesOf = (group: number): [number, number] => [group >> 8, group & 0xff];

/** The eight numbers of an address, including those that `::` replaces. */
function groupsOf(address: string): number[] {
  const [left = [], right = []] = address
    .split("::")
    .map((part) => (part === "" ? [] : part.split(":").map((group) => Number.parseInt(group, 16))));
  const missing = GROUPS - left.length - right.length;
  return [...left, ...Array<number>(missing).fill(0), ...right];
}
