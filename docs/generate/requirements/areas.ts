// The form of the tables in this folder.

/** Title of an area → id → what holds, in one line. */
export type Areas = Readonly<Record<string, Readonly<Record<string, string>>>>;
