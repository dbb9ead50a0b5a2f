// The network that a caller is counted as, where a limit is of a network address.
import { isIPv6 } from "node:net";

const GROUPS = 8;
/** Of the 64 bits that a provider gives to one customer at the least. The customer chooses the rest at will. */
const NETWORK_GROUPS = 4;

/**
 * Of an IPv6 address its /64, as `2001:db8:0:1::/64`: one machine has 2^64 addresses there. Everything else is a network by
 * itself, an IPv4 address in the form of IPv6 too (OPS-2).
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

/** Its eight numbers, with those that `::` stands for. */
function groupsOf(address: string): number[] {
  const [left = [], right = []] = address
    .split("::")
    .map((part) => (part === "" ? [] : part.split(":").map((group) => Number.parseInt(group, 16))));
  const missing = GROUPS - left.length - right.length;
  return [...left, ...Array<number>(missing).fill(0), ...right];
}
