// Temporary, until the whole stand-in is here.
// @ts-nocheck
export function createScheduler({ deliver }) {
  const all = new Map();
  const next = () => { let m; for (const s of all.values()) if (m === undefined || s.at < m) m = s.at; return m; };
  return { next, meter: () => ({}), resetMeter() {}, fireDue: async (now) => { let n = 0; for (const [k, s] of [...all]) if (s.at <= now) { all.delete(k); n++; await deliver({ arn: s.input.Target.Arn, input: s.input.Target.Input }); } return n; },
    operate: async (op, input) => {
      if (op === "CreateSchedule") { if (input.ScheduleExpression.startsWith("rate")) return {}; if (all.has(input.Name)) throw Object.assign(new Error("c"), { name: "ConflictException", status: 409, fields: {} }); all.set(input.Name, { at: Date.parse(input.ScheduleExpression.slice(3, -1) + "Z"), input }); return { ScheduleArn: "x" }; }
      return {};
    } };
}
