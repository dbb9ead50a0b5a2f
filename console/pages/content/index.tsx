// Content: what do we say? Templates, topics, lists, schedules, experiences and images.
import { Tabbed } from "../../components/page.tsx";
import { Assets } from "./assets.tsx";
import { Experiences } from "./experiences.tsx";
import { Lists } from "./lists.tsx";
import { Schedules } from "./schedules.tsx";
import { Templates } from "./templates.tsx";
import { Topics } from "./topics.tsx";

const tabs = [
  { id: "", label: "Templates", View: Templates },
  { id: "topics", label: "Topics", View: Topics },
  { id: "lists", label: "Lists", View: Lists },
  { id: "schedules", label: "Schedules", View: Schedules },
  { id: "experiences", label: "Experiences", View: Experiences },
  { id: "assets", label: "Images", View: Assets },
] as const;

export const View = () => (
  <Tabbed title="Content" about="Templates, topics, lists, schedules, in-app experiences and images." tabs={tabs} />
);
