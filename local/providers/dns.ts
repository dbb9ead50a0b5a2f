// The DNS of the local service: what tests and users publish there. Names of the outside world are not asked for.
import type { RecordType } from "../../shared/egress/network.ts";

export interface LocalDns {
  read(name: string, type: RecordType): readonly string[];
  add(name: string, type: RecordType, value: string): void;
}

/** Names are the same in capitals and small letters. */
export function createDns(): LocalDns {
  const records = new Map<string, string[]>();
  const keyOf = (name: string, type: RecordType) => `${type} ${name.toLowerCase()}`;
  return {
    read: (name, type) => records.get(keyOf(name, type)) ?? [],
    add: (name, type, value) => {
      const key = keyOf(name, type);
      records.set(key, [...(records.get(key) ?? []), value]);
    },
  };
}
