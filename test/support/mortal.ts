// Functions that crash between any two of their AWS requests.
/** A function that dies at its n-th step, before or after it was carried out, and stays dead until revived. */
export function mortal(worker: string) {
  let left = Number.POSITIVE_INFINITY;
  let when: "before" | "after" = "before";
  let isDead = false;
  let steps = 0;
  const step = (moment: "before" | "after") => {
    if (moment === "before") steps++;
    if (!isDead && moment === when && --left === 0) isDead = true;
    if (isDead) throw new Error("the worker died");
  };
  return {
    hooks: (name: string) => (name === worker ? { before: () => step("before"), after: () => step("after") } : {}),
    dieAt: (n: number, moment: "before" | "after") => {
      [left, when, isDead, steps] = [n, moment, false, 0];
    },
    revive: () => {
      [left, isDead] = [Number.POSITIVE_INFINITY, false];
    },
    steps: () => steps,
  };
}
