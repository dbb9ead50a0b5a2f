// What goes beyond the specification, and what is tested by breaking things.
import type { Areas } from "./areas.ts";

export const additions: Areas = {
  "Additions (F)": {
    F1: "No send is doubled or lost by a crash; what cannot be known is marked and not repeated.",
    F2: "Why a recipient got a send, or did not, with the values that decided.",
    F3: "A journey is simulated on stored events.",
    F4: "The time of a sandbox can be moved over all that waits for it, and nothing leaves it.",
    F5: "One command runs everything, without Docker or network.",
    F6: "It runs in one's own AWS account, and nothing is billed by the hour.",
    F7: "One schema gives checks, document, client and tests.",
    F8: "A preview of a send counts what the send would do.",
    F9: "A lift comes with interval, p-value and significance.",
    F10: "What a send costs is estimated before and reported after.",
    F11: "Webhooks can be replayed by range and outcome.",
    F12: "A stream that breaks is resumed by the last id.",
    F13: "An import can be rehearsed; rejected rows come back with reasons.",
    F14: "Erasure has a receipt; a subscriber's data can be exported.",
    F15: "Quiet hours follow the subscriber's local time.",
    F16: "Frequency caps hold across campaigns and journeys.",
    F17: "Configuration can be exported, compared and applied.",
    F18: "Agents plan a send, then confirm exactly that one.",
    F19: "Opens and clicks by machines are distinguished.",
    F20: "Versions of journeys can be compared.",
    F21: "A send that goes wrong stops itself.",
    F22: "Management writes are recorded in a chain that shows tampering.",
    F24: "A workspace's data stays in its region.",
    F25: "Usage is forecast, and warned of before a limit is reached.",
    F26: "Exports of Amazon Pinpoint can be imported.",
  },
  "Operations (OPS)": {
    "OPS-1": "Work that continues in messages to its own queue is not stopped as a recursive loop.",
    "OPS-3": "Rows and messages are readable one version back and forth.",
    "OPS-2":
      "Neither one publishable key nor one network address can use up the live streams or requests of a service.",
  },
  "Fault tests (T)": {
    T1: "A crash at any step, duplicates and late messages neither double nor lose a send.",
    T4: "No request of the service connects to an address that is not public.",
    T11: "After an erasure the subscriber's id is left in the tombstone and nowhere else.",
  },
};
