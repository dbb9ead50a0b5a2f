// Reads refusals: at which stage of a request they come, and which words are another engine's own.

/** What is looked at first is refused first: the stages of a request at AWS. */
const STAGES: RegExp[] = [
  /failed to satisfy constraint|Supplied AttributeValue|numeric value|into a number|ontains duplicates|may not be empty|should not be empty|number with magnitude|significant digits|Null attribute value|ReturnValues can only|Return values set|(Select|Limit) must be|requests? set|null key|cannot be null|Empty attribute name|table\/index name/i,
  /can only be specified when using expressions/,
  /The (Total)?Segments? parameter|Either the KeyConditions/i,
  /ExpressionAttribute/,
  /Invalid \w*Expression|when choosing to get|ALL_PROJECTED_ATTRIBUTES|KeyCondition|segment/i,
  /ResourceNotFound|does not have the specified index|Consistent reads/,
  /does not match the schema|Missing the key|Type mismatch|conditions on the keys|required keys|cannot contain an empty|Invalid attribute value type|query (key )?condition|Condition parameter type|Conditions can be|starting key|Exclusive Start Key|must be scalars|Cannot update attribute|Filter Expression can only|does not project|Select type|multiple operations on one|unsupported type|size limit/i,
  /^(ConditionalCheckFailed|TransactionCanceled)/,
  /document path provided|incorrect data type|refers to an attribute|Item size|38 digits/,
];

const OWN_WORDS =
  /into a number|contains duplicates|failed to satisfy constraint|(Select|Limit) must be|non-existent table|Invalid attribute value type|conditions on the keys|required keys|Type mismatch for (Index )?key$|requests? set|segment must also|Exclusive Start Key|Query condition missed|Conditions can be|are not valid|were invalid: The AttributeValue|magnitude|significant|numeric value|Invalid attribute type name|starting key|operand type|Return values set|null key|cannot be null|one condition per key|contains invalid value|must be scalars|can only be specified when using expressions|The BETWEEN operator/i;

const stageOf = (refused: string): number => STAGES.findIndex((stage) => stage.test(refused));

/** Whether ours is the fault that comes first. */
export function faultsInOrder(ours: string | undefined, theirs: string | undefined): boolean {
  if (!ours || !theirs) return false;
  const [own, other] = [stageOf(ours), stageOf(theirs)];
  return own >= 0 && own < other;
}

/** Whether theirs tells the same kind of fault in words that only they have. */
export function inOwnWords(ours: string | undefined, theirs: string | undefined): boolean {
  if (!ours || !theirs) return false;
  if (/table\/index name|'tableName' failed/.test(theirs)) return true;
  if (/Value '\d+' at 'segment' failed/.test(theirs)) return /Segment parameter/.test(ours);
  return OWN_WORDS.test(theirs) && stageOf(ours) >= 0 && stageOf(ours) === stageOf(theirs);
}
