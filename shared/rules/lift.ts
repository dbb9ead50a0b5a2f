// The lift of a send: the difference of two conversion rates, with its confidence interval (F9).

interface Arm {
  size: number;
  converters: number;
}

interface Lift {
  /** Treated rate minus holdout rate, in percentage points (ISG-8). */
  points: number;
  /** Newcombe-Wilson, 95%, in percentage points; null where an arm is empty. */
  low: number | null;
  high: number | null;
  pValue: number | null;
  significant: boolean;
  /**
   * The smallest lift that arms of this size would show with 80% power, in percentage points; null if all or none
   * converted, because the rates then have no known spread.
   */
  detectable: number | null;
}

export const liftFields = ({ points, low, high, pValue, significant, detectable }: Lift) => ({
  lift_percentage_points: points,
  ci_low: low,
  ci_high: high,
  p_value: pValue,
  significant,
  min_detectable_points: detectable,
});

const Z95 = 1.959963984540054;
const Z80 = 0.8416212335729143;

export const rateOf = ({ size, converters }: Arm): number => (size === 0 ? 0 : converters / size);

/**
 * The lift of the treated recipients over the control group, in percentage points, with its 95% interval (Newcombe's
 * method).
 */
export function liftOf(treated: Arm, holdout: Arm): Lift {
  const [p, q] = [rateOf(treated), rateOf(holdout)];
  const points = (p - q) * 100;
  if (treated.size === 0 || holdout.size === 0)
    return { points, low: null, high: null, pValue: null, significant: false, detectable: null };
  const [lowP, highP] = wilson(treated);
  const [lowQ, highQ] = wilson(holdout);
  const low = p - q - Math.hypot(p - lowP, highQ - q);
  const high = p - q + Math.hypot(highP - p, q - lowQ);
  const pooled = (treated.converters + holdout.converters) / (treated.size + holdout.size);
  const error = Math.sqrt(pooled * (1 - pooled) * (1 / treated.size + 1 / holdout.size));
  const pValue = error === 0 ? 1 : 2 * (1 - normal(Math.abs((p - q) / error)));
  return {
    points,
    low: low * 100,
    high: high * 100,
    pValue,
    significant: low > 0 || high < 0,
    detectable: error === 0 ? null : (Z95 + Z80) * error * 100,
  };
}

/** The interval of a rate. @param z its certainty in standard deviations; default: 95% */
export function wilson({ size, converters }: Arm, z = Z95): [low: number, high: number] {
  const p = converters / size;
  const z2 = z * z;
  const middle = p + z2 / (2 * size);
  const half = z * Math.sqrt((p * (1 - p)) / size + z2 / (4 * size * size));
  return [(middle - half) / (1 + z2 / size), (middle + half) / (1 + z2 / size)];
}

/** The standard normal distribution (Abramowitz and Stegun 26.2.17, to 7.5e-8). */
function normal(z: number): number {
  const t = 1 / (1 + 0.2316419 * z);
  const tail = t * (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
  return 1 - (Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI)) * tail;
}
