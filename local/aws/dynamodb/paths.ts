// Document paths: parsing them from an expression, following them into an item, and selecting them from one.
import { type Cursor, expressionFault } from "./tokens.ts";
import { type AttributeValue, attributeOf, type Item } from "./values.ts";

/** Names and list positions; before binding a name may still be a `#reference`. */
export type Path = readonly (string | number)[];

/** Resolves the names and values of a request in expressions, and records which were used. */
export interface Binding {
  path(path: Path): Path;
  value(ref: string): AttributeValue;
}

/** Errors that DynamoDB reports only after the whole expression is parsed, in its order of precedence. */
export interface Faults {
  parentheses?: string;
  section?: string;
  unknownFunction?: string;
  misusedFunction?: string;
  reserved?: string;
  range?: string;
  /** The number of operators and functions so far. */
  operators?: number;
}

const MAX_OPERATORS = 300;

/** Counts one more operator or function. */
export function countOperator(faults: Faults): void {
  faults.operators = (faults.operators ?? 0) + 1;
  if (faults.operators > MAX_OPERATORS)
    faults.range ??= `The expression contains too many operators; operator count: ${MAX_OPERATORS + 1}`;
}

const MAX_DEPTH = 32;

const MAX_INDEX = 2_147_483_647;

export const readPath = (cursor: Cursor, faults: Faults): Path => readSteps([readName(cursor, faults)], cursor, faults);

/** Whether a path goes on from here. */
export const goesOn = (cursor: Cursor): boolean => cursor.sees(".") || cursor.sees("[");

/** Reads the steps after the beginning of a path. */
export function readSteps(from: Path, cursor: Cursor, faults: Faults): Path {
  const path = [...from];
  for (;;) {
    if (cursor.takes(".")) path.push(readName(cursor, faults));
    else if (cursor.takes("[")) {
      const index = Number(cursor.expectKind("number").text);
      if (index > MAX_INDEX) faults.range ??= `List index is not within the allowable range; index: [${index}]`;
      path.push(index);
      cursor.expect("]");
    } else {
      if (path.length > MAX_DEPTH)
        faults.range ??= `The document path has too many nesting levels; nesting levels: ${path.length}`;
      return path;
    }
  }
}

function readName(cursor: Cursor, faults: Faults): string {
  const token = cursor.peek();
  if (token.kind !== "word" && token.kind !== "name") cursor.fail();
  if (token.kind === "word" && isReserved(token.text))
    faults.reserved ??= `Attribute name is a reserved keyword; reserved keyword: ${token.text}`;
  return cursor.next().text;
}

export const pathText = (path: Path): string =>
  `[${path.map((step) => (typeof step === "number" ? `[${step}]` : step)).join(", ")}]`;

export const samePath = (left: Path, right: Path): boolean =>
  left.length === right.length && left.every((step, at) => step === right[at]);

export function follow(item: Item, path: Path): AttributeValue | undefined {
  let value: AttributeValue | undefined;
  for (let at = 0; at < path.length; at++) {
    const step = path[at]!;
    if (typeof step === "number") value = value?.L?.[step];
    else {
      const map = at === 0 ? item : value?.M;
      value = map && attributeOf(map, step);
    }
    if (value === undefined) return undefined;
  }
  return value;
}

/** Rejects two paths of one expression that overlap, or that disagree on map or list. */
export function refuseOverlaps(paths: readonly Path[]): void {
  let conflict: string | undefined;
  for (let second = 1; second < paths.length; second++)
    for (let first = 0; first < second; first++) {
      const [one, two] = [paths[first]!, paths[second]!];
      const relation = relationOf(one, two);
      if (!relation) continue;
      const fault = `Two document paths ${relation} with each other; must remove or rewrite one of these paths; path one: ${pathText(one)}, path two: ${pathText(two)}`;
      if (relation === "overlap") throw expressionFault(fault);
      conflict ??= fault;
    }
  if (conflict) throw expressionFault(conflict);
}

function relationOf(one: Path, two: Path): "overlap" | "conflict" | undefined {
  const shared = Math.min(one.length, two.length);
  for (let at = 0; at < shared; at++) {
    if (typeof one[at] !== typeof two[at]) return "conflict";
    if (one[at] !== two[at]) return undefined;
  }
  return "overlap";
}

type Branches = Map<string | number, Branches>;

/** The parts of an item that a set of paths selects; a leaf selects the whole value. */
export function branchesOf(paths: readonly Path[]): Branches {
  const root: Branches = new Map();
  for (const path of paths) {
    let at = root;
    for (const step of path) {
      let next = at.get(step);
      if (!next) {
        next = new Map();
        at.set(step, next);
      }
      at = next;
    }
  }
  return root;
}

export function pick(item: Item, branches: Branches): Item {
  const picked: Item = {};
  for (const [name, inner] of branches) {
    const value = attributeOf(item, String(name));
    const part = value && pickValue(value, inner);
    if (part) picked[name] = part;
  }
  return picked;
}

function pickValue(value: AttributeValue, branches: Branches): AttributeValue | undefined {
  if (branches.size === 0) return value;
  if (value.M) {
    const names = new Map([...branches].filter(([step]) => typeof step === "string"));
    const map = pick(value.M, names);
    return Object.keys(map).length > 0 ? { M: map } : undefined;
  }
  if (!value.L) return undefined;
  const positions = [...branches].filter(([step]) => typeof step === "number") as [number, Branches][];
  positions.sort(([a], [b]) => a - b);
  const list: AttributeValue[] = [];
  for (const [position, inner] of positions) {
    const member = value.L[position];
    const part = member && pickValue(member, inner);
    if (part) list.push(part);
  }
  return list.length > 0 ? { L: list } : undefined;
}

const WORDS = `
  ABORT ABSOLUTE ACTION ADD AFTER AGENT AGGREGATE ALL ALLOCATE ALTER ANALYZE AND ANY ARCHIVE ARE ARRAY AS ASC
  ASCII ASENSITIVE ASSERTION ASYMMETRIC AT ATOMIC ATTACH ATTRIBUTE AUTH AUTHORIZATION AUTHORIZE AUTO AVG BACK
  BACKUP BASE BATCH BEFORE BEGIN BETWEEN BIGINT BINARY BIT BLOB BLOCK BOOLEAN BOTH BREADTH BUCKET BULK BY BYTE
  CALL CALLED CALLING CAPACITY CASCADE CASCADED CASE CAST CATALOG CHAR CHARACTER CHECK CLASS CLOB CLOSE CLUSTER
  CLUSTERED CLUSTERING CLUSTERS COALESCE COLLATE COLLATION COLLECTION COLUMN COLUMNS COMBINE COMMENT COMMIT
  COMPACT COMPILE COMPRESS CONDITION CONFLICT CONNECT CONNECTION CONSISTENCY CONSISTENT CONSTRAINT CONSTRAINTS
  CONSTRUCTOR CONSUMED CONTINUE CONVERT COPY CORRESPONDING COUNT COUNTER CREATE CROSS CUBE CURRENT CURSOR CYCLE
  DATA DATABASE DATE DATETIME DAY DEALLOCATE DEC DECIMAL DECLARE DEFAULT DEFERRABLE DEFERRED DEFINE DEFINED
  DEFINITION DELETE DELIMITED DEPTH DEREF DESC DESCRIBE DESCRIPTOR DETACH DETERMINISTIC DIAGNOSTICS DIRECTORIES
  DISABLE DISCONNECT DISTINCT DISTRIBUTE DO DOMAIN DOUBLE DROP DUMP DURATION DYNAMIC EACH ELEMENT ELSE ELSEIF
  EMPTY ENABLE END EQUAL EQUALS ERROR ESCAPE ESCAPED EVAL EVALUATE EXCEEDED EXCEPT EXCEPTION EXCEPTIONS EXCLUSIVE
  EXEC EXECUTE EXISTS EXIT EXPLAIN EXPLODE EXPORT EXPRESSION EXTENDED EXTERNAL EXTRACT FAIL FALSE FAMILY FETCH
  FIELDS FILE FILTER FILTERING FINAL FINISH FIRST FIXED FLATTERN FLOAT FOR FORCE FOREIGN FORMAT FORWARD FOUND FREE
  FROM FULL FUNCTION FUNCTIONS GENERAL GENERATE GET GLOB GLOBAL GO GOTO GRANT GREATER GROUP GROUPING HANDLER HASH
  HAVE HAVING HEAP HIDDEN HOLD HOUR IDENTIFIED IDENTITY IF IGNORE IMMEDIATE IMPORT IN INCLUDING INCLUSIVE
  INCREMENT INCREMENTAL INDEX INDEXED INDEXES INDICATOR INFINITE INITIALLY INLINE INNER INNTER INOUT INPUT
  INSENSITIVE INSERT INSTEAD INT INTEGER INTERSECT INTERVAL INTO INVALIDATE IS ISOLATION ITEM ITEMS ITERATE JOIN
  KEY KEYS LAG LANGUAGE LARGE LAST LATERAL LEAD LEADING LEAVE LEFT LENGTH LESS LEVEL LIKE LIMIT LIMITED LINES LIST
  LOAD LOCAL LOCALTIME LOCALTIMESTAMP LOCATION LOCATOR LOCK LOCKS LOG LOGED LONG LOOP LOWER MAP MATCH MATERIALIZED
  MAX MAXLEN MEMBER MERGE METHOD METRICS MIN MINUS MINUTE MISSING MOD MODE MODIFIES MODIFY MODULE MONTH MULTI
  MULTISET NAME NAMES NATIONAL NATURAL NCHAR NCLOB NEW NEXT NO NONE NOT NULL NULLIF NUMBER NUMERIC OBJECT OF
  OFFLINE OFFSET OLD ON ONLINE ONLY OPAQUE OPEN OPERATOR OPTION OR ORDER ORDINALITY OTHER OTHERS OUT OUTER OUTPUT
  OVER OVERLAPS OVERRIDE OWNER PAD PARALLEL PARAMETER PARAMETERS PARTIAL PARTITION PARTITIONED PARTITIONS PATH
  PERCENT PERCENTILE PERMISSION PERMISSIONS PIPE PIPELINED PLAN POOL POSITION PRECISION PREPARE PRESERVE PRIMARY
  PRIOR PRIVATE PRIVILEGES PROCEDURE PROCESSED PROJECT PROJECTION PROPERTY PROVISIONING PUBLIC PUT QUERY QUIT
  QUORUM RAISE RANDOM RANGE RANK RAW READ READS REAL REBUILD RECORD RECURSIVE REDUCE REF REFERENCE REFERENCES
  REFERENCING REGEXP REGION REINDEX RELATIVE RELEASE REMAINDER RENAME REPEAT REPLACE REQUEST RESET RESIGNAL
  RESOURCE RESPONSE RESTORE RESTRICT RESULT RETURN RETURNING RETURNS REVERSE REVOKE RIGHT ROLE ROLES ROLLBACK
  ROLLUP ROUTINE ROW ROWS RULE RULES SAMPLE SATISFIES SAVE SAVEPOINT SCAN SCHEMA SCOPE SCROLL SEARCH SECOND
  SECTION SEGMENT SEGMENTS SELECT SELF SEMI SENSITIVE SEPARATE SEQUENCE SERIALIZABLE SESSION SET SETS SHARD SHARE
  SHARED SHORT SHOW SIGNAL SIMILAR SIZE SKEWED SMALLINT SNAPSHOT SOME SOURCE SPACE SPACES SPARSE SPECIFIC
  SPECIFICTYPE SPLIT SQL SQLCODE SQLERROR SQLEXCEPTION SQLSTATE SQLWARNING START STATE STATIC STATUS STORAGE STORE
  STORED STREAM STRING STRUCT STYLE SUB SUBMULTISET SUBPARTITION SUBSTRING SUBTYPE SUM SUPER SYMMETRIC SYNONYM
  SYSTEM TABLE TABLESAMPLE TEMP TEMPORARY TERMINATED TEXT THAN THEN THROUGHPUT TIME TIMESTAMP TIMEZONE TINYINT TO
  TOKEN TOTAL TOUCH TRAILING TRANSACTION TRANSFORM TRANSLATE TRANSLATION TREAT TRIGGER TRIM TRUE TRUNCATE TTL
  TUPLE TYPE UNDER UNDO UNION UNIQUE UNIT UNKNOWN UNLOGGED UNNEST UNPROCESSED UNSIGNED UNTIL UPDATE UPPER URL
  USAGE USE USER USERS USING UUID VACUUM VALUE VALUED VALUES VARCHAR VARIABLE VARIANCE VARINT VARYING VIEW VIEWS
  VIRTUAL VOID WAIT WHEN WHENEVER WHERE WHILE WINDOW WITH WITHIN WITHOUT WORK WRAPPED WRITE YEAR ZONE
`;

const RESERVED = new Set(WORDS.trim().split(/\s+/));

const isReserved = (name: string): boolean => RESERVED.has(name.toUpperCase());
