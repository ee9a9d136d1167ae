import { describe, expect, it } from "vitest";
import { TokenList } from "../../../src/session/token-list.ts";

const ids = (...values: number[]) => Int32Array.from(values);

describe("TokenList", () => {
  it("appends without changing the list it extends", () => {
    const parent = TokenList.from(ids(1, 2));
    const child = parent.append(ids(3, 4, 5));
    expect([...child.toArray()]).toEqual([1, 2, 3, 4, 5]);
    expect([...parent.toArray()]).toEqual([1, 2]);
    expect(parent.at(2)).toBeUndefined();
  });

  it("gives two branches of one parent their own tokens", () => {
    const parent = TokenList.from(ids(1, 2));
    const first = parent.append(ids(3));
    const second = parent.append(ids(9, 9));
    const third = first.append(ids(4));
    expect([...first.toArray()]).toEqual([1, 2, 3]);
    expect([...second.toArray()]).toEqual([1, 2, 9, 9]);
    expect([...third.toArray()]).toEqual([1, 2, 3, 4]);
  });

  it("continues a prefix without touching the longer list", () => {
    const whole = TokenList.from(ids(1, 2, 3));
    const changed = whole.prefix(2).append(ids(7));
    expect([...changed.toArray()]).toEqual([1, 2, 7]);
    expect([...whole.toArray()]).toEqual([1, 2, 3]);
  });

  it("hands out copies", () => {
    const list = TokenList.from(ids(1, 2, 3));
    list.toArray(1).fill(0);
    expect([...list.toArray(1)]).toEqual([2, 3]);
  });
});
