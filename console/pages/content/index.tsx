// Content: what do we say? Templates, topics, lists, schedules, experiences and images.
import { place } from "../../app/router.ts";
import { Tabbed } from "../../components/page.tsx";
import { Assets } from "./assets.tsx";
import { ExperienceEditor } from "./experience-editor.tsx";
import { Experiences } from "./experiences.tsx";
import { ListMembers } from "./list-members.tsx";
import { Lists } from "./lists.tsx";
import { Schedules } from "./schedules.tsx";
import { TemplateEditor } from "./template-editor.tsx";
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

/** One thing has a page of its own; the others stand in their tab. */
export function View() {
  const [tab, id, part] = place.value.parts;
  if (id && tab === "templates") return <TemplateEditor key={id} id={id} />;
  if (id && tab === "lists") return <ListMembers key={id} id={id} />;
  if (tab === "experiences" && (id === "new" || part === "edit")) return <ExperienceEditor key={id} id={id!} />;
  return (
    <Tabbed title="Content" about="Templates, topics, lists, schedules, in-app experiences and images." tabs={tabs} />
  );
}
