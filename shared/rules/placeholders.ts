// Whether a text has something to fill in, for functions that do not fill it: the engine of templates is large.

export const hasPlaceholders = (text: string): boolean => text.includes("{{") || text.includes("{%");
