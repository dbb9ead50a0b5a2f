// The texts of a message, which may be personalised. They are apart from the other shapes because they need the renderer.
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

/** AMB-90: an approved template in place of title and body by the chat app, and what fills its variables. */
export const chatAppFields = {
  chat_app_template_id: v.optional(v.pipe(Id, v.toLowerCase())),
  chat_app_parameters: v.optional(
    v.pipe(
      v.array(personalised(MAX_PARAMETER_CHARACTERS)),
      v.maxLength(MAX_PARAMETERS, `must be at most ${MAX_PARAMETERS}`),
    ),
  ),
};

/** What a recipient reads; may hold the Liquid subset of D-LIQUID. */
export const MessageTitle = v.pipe(
  personalised(MAX_TITLE_CHARACTERS),
  v.check((title) => !isBlank(title), BLANK),
);
export const MessageBody = personalised(MAX_BODY_CHARACTERS);
