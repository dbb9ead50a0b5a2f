// The rulings of the second round, each behind a switch: on as soon as the product has it. Off is the ruling before it.

/** Every ruling of the second round, off until the product has it. */
export const rulings = {
  /** Suppression belongs to the address. Off: a row of the person's consent history, as D-CONSENT had it. */
  AMB_128_suppression_of_the_address: true,
  /** Who lifts a suppression. Off: nobody but an operator; an upsert or an import never does. */
  AMB_129_lifting_a_suppression: true,
  /** An opt-out by link is a row of the address. Off: of the person. */
  AMB_130_opt_out_of_the_address: true,
  /** No stored consent lies ahead of its recording. Off: accepted ahead, stored as said (AMB-117). */
  AMB_131_times_of_consents: true,
  /** Columns that state a consent by their name. Off: they are attributes. */
  AMB_132_columns_by_name: true,
  /** Options of an import. Off: unknown fields. */
  AMB_133_options_of_an_import: true,
  /** `trigger.max_age` and `historical`. Off: an event starts a journey whatever its age. */
  AMB_134_max_age: true,
  /** Client clocks. Off: more than five minutes ahead is 422 in both tiers (AMB-24). */
  AMB_135_client_clocks: true,
  /** A bare date is a day. Off: it is a text (AMB-52). */
  AMB_137_bare_dates: true,
  /** `overdue` on resume. Off: overdue messages go out on resume (AMB-14). */
  AMB_138_overdue: true,
  /** Numbers after a bounce. Off: the older fields only. */
  AMB_139_numbers_after_a_bounce: true,
  /** `preview_id`. Off: unknown field. */
  AMB_140_preview_id: true,
  /** `confirm_send` sends the planned recipients. Off: those of its target then. */
  AMB_141_confirm_send: true,
  /** The outcome of a send step follows its delivery. Off: `sent` when handed over. */
  AMB_142_outcome_follows: true,
  /** Links of an erased subscriber. */
  AMB_143_links_of_the_erased: true,
  /** Names beyond ingestion are 422 when saved. Off: accepted, and match nothing. */
  AMB_144_long_names: true,
  /** Limits of publishable keys: of a profile; those of a minute are beyond what a program asks. */
  AMB_146_publishable_limits: true,
  /** Refused journey entries are counted. Off: dropped without a word. */
  AMB_147_refused_entries: true,
  /** Keys with dots are paths. Off: literal keys only. */
  AMB_148_paths: true,
  /** The target of a link is in its token. */
  AMB_149_link_targets: true,
};

export type Rulings = typeof rulings;
