// The list that was looked at last, so that one can go from row to row in its order.

/**
 * The numbers on its page in their order, and its address.
 * @type {{ numbers: number[], hash: string }}
 */
export const listing = { numbers: [], hash: "#/rows" };
