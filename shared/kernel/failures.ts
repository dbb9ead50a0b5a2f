// Failures of steps that run side by side.

/** Throws failures after every step has ended: a single one as it is, several together. */
export function throwFailures(outcomes: readonly PromiseSettledResult<unknown>[]): void {
  const failures = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason] : []));
  if (failures.length === 1) throw failures[0];
  if (failures.length > 1) throw new AggregateError(failures, failures.map(String).join("; "));
}
