// A change of one item as the table's stream tells it.
import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import { unmarshall } from "@aws-sdk/util-dynamodb";
import type { DynamoDBRecord } from "aws-lambda";
import type { Item } from "../../../shared/store/model.ts";

export interface Change {
  tenant: string;
  /** Undefined for a new item. */
  before: Item | undefined;
  after: Item;
}

/** The changes of one batch, in order. */
export interface Changes {
  /** Those of items whose attribute `react` says so. */
  of(react: string): Change[];
}

export function changesOf(records: readonly DynamoDBRecord[]): Changes {
  const changes = records.flatMap(changeOf);
  return { of: (react) => changes.filter(({ after }) => after.react === react) };
}

/** It was inserted by this change. */
export const isNew = ({ before }: Change): boolean => before === undefined;

/** It came to this status by this change. */
export const becomes =
  (status: string) =>
  ({ before, after }: Change): boolean =>
    after.status === status && before?.status !== status;

function changeOf({ dynamodb }: DynamoDBRecord): Change[] {
  if (!dynamodb?.NewImage) return [];
  const after = image(dynamodb.NewImage);
  const before = dynamodb.OldImage && image(dynamodb.OldImage);
  return [{ tenant: after.pk.split("#")[1] ?? "", before, after }];
}

const image = (wire: object) => unmarshall(wire as Record<string, AttributeValue>) as Item;
