// Property tests draw the same cases every run; another seed is tried by `FC_SEED`.
import fc from "fast-check";

fc.configureGlobal({ seed: Number(process.env.FC_SEED ?? 20_261_120) });
