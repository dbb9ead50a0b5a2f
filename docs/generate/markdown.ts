// Tables and code in the generated Markdown.
const row = (cells: readonly unknown[]) => `| ${cells.join(" | ")} |`;

export const table = (head: readonly string[], rows: readonly (readonly unknown[])[]): string =>
  [row(head), row(head.map(() => "---")), ...rows.map(row)].join("\n");

export const code = (text: string): string => `\`${text}\``;
