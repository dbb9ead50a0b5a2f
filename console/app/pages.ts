// What a page declares, so that navigation, palette and router know it before its code is loaded.
import type { ComponentType } from "preact";
import type { IconName } from "../components/icon.tsx";

export interface PageEntry {
  /** The segment of the address. */
  name: string;
  title: string;
  icon: IconName;
  /** Follows `g` on the keyboard. */
  key: string;
  section: "Messages" | "People" | "Set-up" | "This machine" | "";
  /** Only where the service runs on this machine. */
  isLocal?: boolean;
  /** Words that find it in the palette. */
  words?: string;
  load(): Promise<{ View: ComponentType }>;
}
