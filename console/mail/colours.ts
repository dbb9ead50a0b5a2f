// Whether a text on a colour is to be black or white.

const channel = (hex: string, at: number): number => {
  const value = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
  return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
};

/** Relative luminance, from 0 to 1. */
const luminance = (hex: string): number =>
  0.2126 * channel(hex, 1) + 0.7152 * channel(hex, 3) + 0.0722 * channel(hex, 5);

/** The one with the higher contrast. */
export const onColour = (hex: string): "#ffffff" | "#111318" => (luminance(hex) > 0.2 ? "#111318" : "#ffffff");
