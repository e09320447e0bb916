// @ts-check
// Which match of a search for words comes first.

// densest returns the first match where most words are adjacent, or else closest to each other.
// gap returns the number of characters between two matches.
/**
 * @param {string[]} words
 * @param {(i: number) => number} gap
 */
export const densest = (words, gap) => {
  let bestIndex = 0,
    bestScore = -1;
  /** @param {number} i */
  const gapAfter = (i) => (i + 1 < words.length ? gap(i) : Infinity);
  /** @param {number} i */
  const wordsAt = (i) => words[i].toLowerCase().match(/[\p{L}\p{N}]+/gu) || [];
  for (let i = 0; i < words.length; i++) {
    let run = wordsAt(i).length;
    for (let j = i; gapAfter(j) <= 2; j++) run += wordsAt(j + 1).length;
    const nearWords = new Set();
    for (let j = i, budget = 200; j < words.length && budget >= 0; j++) {
      for (const word of wordsAt(j)) nearWords.add(word);
      budget -= words[j].length + gapAfter(j);
    }
    const score = 100 * run + nearWords.size;
    if (score > bestScore) [bestIndex, bestScore] = [i, score];
  }
  return bestIndex;
};

// distance returns the number of characters between two matches.
/**
 * @param {Hit} h
 * @param {Hit} next
 */
export const distance = (h, next) => {
  const n = h.after.toLowerCase().indexOf(next.match.toLowerCase());
  return n < 0 ? Infinity : n;
};
