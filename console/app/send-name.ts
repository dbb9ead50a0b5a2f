import { inPlain } from "../../shared/rules/placeholders.ts";

/** What a send is called: by its name, else by its title, whose variables nobody's values fill. */
export const sendName = ({ name, title }: { name: string | null; title: string | null }): string =>
  name ?? inPlain(title ?? "A template");
