//! Sorting what is sorted in parts.
//!
//! What is due in a tick was noted in canonical order in one tick before, or in a few of them; so it comes as a few
//! sorted runs, and these are merged. Neither this nor a sort of what is in no order at all needs memory of its own.

/// Lists with shorter runs than this on average are as good as in no order.
const SHORT: usize = 16;

/// Sorts `list`; equal elements must not be told apart. `buffer` keeps its room from call to call.
pub(super) fn sort<T: Ord + Copy>(list: &mut Vec<T>, buffer: &mut Vec<T>) {
    let runs = 1 + list.windows(2).filter(|pair| pair[0] > pair[1]).count();
    if runs == 1 {
        return;
    }
    if runs * SHORT > list.len() {
        list.sort_unstable();
        return;
    }
    let mut left = runs;
    while left > 1 {
        buffer.clear();
        let mut at = 0;
        while at < list.len() {
            let middle = run_end(list, at);
            let end = run_end(list, middle);
            merge(&list[at..middle], &list[middle..end], buffer);
            at = end;
        }
        std::mem::swap(list, buffer);
        left = left.div_ceil(2);
    }
}

/// Where the run that begins at `at` ends.
fn run_end<T: Ord>(list: &[T], at: usize) -> usize {
    let rest = &list[at..];
    at + rest.windows(2).position(|pair| pair[0] > pair[1]).map_or(rest.len(), |last| last + 1)
}

fn merge<T: Ord + Copy>(mut a: &[T], mut b: &[T], into: &mut Vec<T>) {
    while let (Some(&first), Some(&second)) = (a.first(), b.first()) {
        if first <= second {
            into.push(first);
            a = &a[1..];
        } else {
            into.push(second);
            b = &b[1..];
        }
    }
    into.extend_from_slice(a);
    into.extend_from_slice(b);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_few_and_of_many_runs_end_sorted() {
        let (mut buffer, mut random) = (Vec::new(), 7u32);
        for length in [0usize, 1, 2, 15, 16, 17, 100, 1000] {
            for runs in [1, 2, 3, 5, 50] {
                let mut list: Vec<u32> = (0..length)
                    .map(|_| {
                        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                        random >> 20
                    })
                    .collect();
                let run = length.div_ceil(runs).max(1);
                list.chunks_mut(run).for_each(|run| run.sort_unstable());
                let mut expected = list.clone();
                expected.sort_unstable();
                sort(&mut list, &mut buffer);
                assert_eq!(list, expected, "{length} in {runs} runs");
            }
        }
    }
}
