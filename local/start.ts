// `npm start`: the service as one module. To find and load its 1,400 files takes longer than all else that a start does.
import { fileURLToPath } from "node:url";
import { oneModule } from "./one-module.ts";

await import(
  await oneModule({
    entry: fileURLToPath(new URL("main.ts", import.meta.url)),
    root: fileURLToPath(new URL("..", import.meta.url)),
    folder: fileURLToPath(new URL("../node_modules/.cache/start/", import.meta.url)),
  })
);
