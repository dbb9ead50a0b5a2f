// The texts of a message, which may be personalised. This file is separate from other shapes because it needs the
// renderer.
import * as v from "valibot";
import { BLANK, isBlank } from "../rules/characters.ts";
import { validateTemplate } from "../rules/render.ts";
import { Id, maxCharacters } from "./schemas.ts";

export const MAX_TITLE_CHARACTERS = 1_000;
export const MAX_BODY_CHARACTERS = 50_000;

const personalised = (maxLength: number) =>
  v.pipe(
    v.string(),
    v.nonEmpty(),
    maxCharacters(maxLength),
    v.rawCheck(({ dataset, addIssue }) => {
      const trouble = dataset.typed ? validateTemplate(dataset.value) : undefined;
      if (trouble) addIssue({ message: trouble });
    }),
    v.description("May hold Liquid: `{{ subscriber.first_name }}`"),
  );

/** The limits of the provider for a chat-app template. */
const MAX_PARAMETER_CHARACTERS = 1_024;
const MAX_PARAMETERS = 99;

/** An approved template that replaces title and body in the chat app, and the values of its variables (AMB-90). */
export const chatAppFields = {
  chat_app_template_id: v.optional(v.pipe(Id, v.toLowerCase())),
  chat_app_parameters: v.optional(
    v.pipe(
      v.array(personalised(MAX_PARAMETER_CHARACTERS)),
      v.maxLength(MAX_PARAMETERS, `must be at most ${MAX_PARAMETERS}`),
    ),
  ),
};

/** Text for a recipient; it may contain the Liquid subset of D-LIQUID. */
export const MessageTitle = v.pipe(
  personalised(MAX_TITLE_CHARACTERS),
  v.check((title) => !isBlank(title), BLANK),
);
export const MessageBody = personalised(MAX_BODY_CHARACTERS);
