// The pages of figures over time: one file, because they share more with each other than with the rest.
import { View as Deliverability } from "./deliverability/index.tsx";
import { View as Insights } from "./insights/index.tsx";

export const views = { Deliverability, Insights };
