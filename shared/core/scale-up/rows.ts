/**
 * One value for every row of numbers, made when the row is seen for the first time. Rows are found by a sum over them
 * and compared as a whole: thousands of machines of a few hundred kinds cost little more than reading them.
 */
export function createRows<Value>(): (row: readonly number[], create: () => Value) => Value {
  const known = new Map<number, { readonly row: readonly number[]; readonly value: Value }[]>();
  return (row, create) => {
    let sum = row.length;
    for (const part of row) sum = (sum * 31 + part) % prime;
    const alike = known.get(sum);
    const found = alike?.find((one) => isSame(one.row, row));
    if (found) return found.value;
    const fresh = { row, value: create() };
    if (alike) alike.push(fresh);
    else known.set(sum, [fresh]);
    return fresh.value;
  };
}

const prime = 4_294_967_291;

function isSame(a: readonly number[], b: readonly number[]): boolean {
  if (a.length !== b.length) return false;
  for (let index = 0; index < a.length; index++) if (a[index] !== b[index]) return false;
  return true;
}
