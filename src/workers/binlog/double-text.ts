/**
 * The text that MySQL gives a DOUBLE, byte for byte: `my_gcvt` of strings/dtoa.cc at full width. The digits are the shortest
 * that read back as the same number, the same ones that JavaScript finds; only the form differs: MySQL writes `1e20` and `1e-16`
 * where JavaScript has `100000000000000000000` and keeps plain digits down to `0.000000000000001`.
 */
export function doubleText(value: number): string {
  const size = Math.abs(value);
  if ((size >= 1e-6 && size < 1e15) || value === 0) return Object.is(value, -0) ? "-0" : String(value);
  return reform(String(value));
}

/** Greatest power of ten at which `my_gcvt` still prefers plain digits (DBL_DIG). */
const PLAIN_LIMIT = 15;

function reform(text: string): string {
  const match = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(text);
  // NaN and infinities cannot be stored in a column.
  if (match === null) return text;
  const sign = match[1] as string;
  const whole = match[2] as string;
  const fraction = match[3] ?? "";
  const leading = /^0*/.exec(whole + fraction)?.[0].length ?? 0;
  const digits = (whole + fraction).slice(leading).replace(/0+$/, "");
  // The value is 0.DIGITS × 10^point.
  const point = whole.length - leading + Number(match[4] ?? 0);
  const plain = point >= -PLAIN_LIMIT + 1 && (point <= PLAIN_LIMIT || digits.length > point);
  if (!plain) {
    const exponent = point - 1;
    return `${sign}${digits[0]}${digits.length > 1 ? `.${digits.slice(1)}` : ""}e${exponent}`;
  }
  if (point <= 0) return `${sign}0.${"0".repeat(-point)}${digits}`;
  if (digits.length <= point) return `${sign}${digits}${"0".repeat(point - digits.length)}`;
  return `${sign}${digits.slice(0, point)}.${digits.slice(point)}`;
}
