// The service never fails by itself: no 500, and no 503 if retries were enough.
import type { Invariant } from "../invariant.ts";

export const answers: Invariant = {
  name: "answers",
  watch: ({ onAnswer, profile, faults }, broken) => {
    onAnswer((route, { status }) => {
      if (status === 500) broken(`500 was the answer to ${route}`, route);
      const isEnough = profile.name !== "storm" && faults.outages === 0 && faults.givenUp() === 0;
      if (status >= 500 && isEnough) broken(`${status} was the answer to ${route}`, route);
    });
    return {};
  },
};
