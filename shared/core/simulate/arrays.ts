/** At least `length` long, the rest zero. Doubled, so that growing one by one stays cheap. */
export function grown<Numbers extends Float64Array | Int32Array | Uint8Array>(
  numbers: Numbers,
  length: number,
): Numbers {
  if (numbers.length >= length) return numbers;
  const larger = new (numbers.constructor as new (length: number) => Numbers)(
    Math.max(length, numbers.length * 2, 16),
  );
  larger.set(numbers);
  return larger;
}
