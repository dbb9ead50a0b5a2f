// What a mail made of blocks needs once it is edited or refused: one file, because both make its HTML.
import { MailEditor } from "./editor.tsx";
import { blockOf } from "./refused.ts";

export const late = { MailEditor, blockOf };
