// Fields of what the workspace knows already: known values are offered while one is typed, and another may be typed.
import { useQuery } from "../app/query.ts";
import { TextField, type TextProps } from "./field.tsx";

/** Events that were received. */
export const useEventNames = (): readonly string[] => useQuery("segments.listEventNames", []).data?.names ?? [];

/** Attributes that subscribers have. */
export const useAttributeKeys = (): readonly string[] => useQuery("segments.listAttributeKeys", []).data?.keys ?? [];

export const EventField = (props: Omit<TextProps, "known">) => <TextField {...props} known={useEventNames()} />;
