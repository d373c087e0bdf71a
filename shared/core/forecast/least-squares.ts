/** A linear model that learns one row at a time (recursive least squares with slow forgetting). */
export interface LinearModel {
  predict(row: readonly number[]): number;
  learn(row: readonly number[], value: number): void;
}

const forgetting = 1 - 1 / 5_000;
/** Beyond this the rows of late say nothing new: forgetting more would only amplify noise. */
const mostUncertain = 1e4;

export function createLinearModel(width: number): LinearModel {
  const weights = new Float64Array(width);
  const inverse = new Float64Array(width * width);
  for (let index = 0; index < width; index += 1) inverse[index * width + index] = 1;
  const gain = new Float64Array(width);
  const predict = (row: readonly number[]): number => {
    let sum = 0;
    for (let index = 0; index < width; index += 1) sum += (weights[index] ?? 0) * (row[index] ?? 0);
    return sum;
  };
  return {
    predict,
    learn(row, value) {
      let spread = 0;
      let trace = 0;
      for (let i = 0; i < width; i += 1) {
        let sum = 0;
        for (let j = 0; j < width; j += 1) sum += (inverse[i * width + j] ?? 0) * (row[j] ?? 0);
        gain[i] = sum;
        spread += sum * (row[i] ?? 0);
        trace += inverse[i * width + i] ?? 0;
      }
      const keep = trace < mostUncertain ? forgetting : 1;
      const miss = value - predict(row);
      const scale = 1 / (keep + spread);
      for (let i = 0; i < width; i += 1) {
        weights[i] = (weights[i] ?? 0) + (gain[i] ?? 0) * scale * miss;
        for (let j = 0; j < width; j += 1)
          inverse[i * width + j] =
            ((inverse[i * width + j] ?? 0) - (gain[i] ?? 0) * (gain[j] ?? 0) * scale) / keep;
      }
    },
  };
}
