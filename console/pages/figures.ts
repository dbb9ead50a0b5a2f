// The pages of figures over time, and home: one file, because they share more with each other than with the rest.
import * as Deliverability from "./deliverability/index.tsx";
import * as Home from "./home/index.tsx";
import * as Insights from "./insights/index.tsx";

export const views = { Deliverability, Home, Insights };
