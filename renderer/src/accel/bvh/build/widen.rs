//! From two children per node to eight: chooses which descendants of a node become its children, and which ranges
//! become leaves, so that the expected cost of rays is least (Ylitie, Karras and Laine, "Efficient Incoherent Ray
//! Traversal on GPUs Through Compressed Wide BVHs", HPG 2017, section 3.1).

use super::super::boxes::WIDTH;
use super::binary::Branch;
use super::split::BLOCK;
use smallvec::SmallVec;

/// What the test of a node's boxes costs, where that of a block costs 1.
pub const NODE: f64 = 1.5;

/// The most weight that a leaf may have.
pub const LEAF: u32 = 4 * BLOCK;

/// What rays cost in a branch that fills up to 1, 2, … 7 slots of a node.
pub type Costs = [f64; WIDTH - 1];

/// How a branch is represented best.
#[derive(Clone, Copy)]
struct Choice {
    /// Of 2, 3, … 8 slots, how many the first child gets, and the second child the others; 0 where less slots are as good.
    first: [u8; WIDTH - 1],
    /// In one slot: as a leaf, or else as a node.
    leaf: bool,
}

/// Trees with two children a node, and what is to become of each. They lie in lists of all of them, so that the memory of the last
/// ones can be given back.
pub struct Plans {
    branches: Vec<Branch>,
    choices: Vec<Choice>,
    /// Where each tree ends, and what its root costs.
    ends: Vec<(usize, Costs)>,
}

/// One of them.
pub struct Plan<'a> {
    pub branches: &'a [Branch],
    choices: &'a [Choice],
    /// Of the root.
    pub costs: Costs,
}

/// One that is not among others yet.
pub struct LonePlan {
    branches: Vec<Branch>,
    choices: Vec<Choice>,
    costs: Costs,
}

/// A branch that stands in slots of a node: in one, or if it has no children in all that it gets.
pub struct Share {
    pub branch: u32,
    pub slots: usize,
}

impl LonePlan {
    /// `costs` says what a branch without children costs.
    pub fn new(branches: Vec<Branch>, costs: impl Fn(&Branch) -> Costs) -> LonePlan {
        let mut choices = vec![Choice { first: [0; WIDTH - 1], leaf: true }; branches.len()];
        let mut all = vec![[0.0; WIDTH - 1]; branches.len()];
        for (i, branch) in branches.iter().enumerate().rev() {
            if branch.second == 0 {
                all[i] = costs(branch);
            } else {
                (all[i], choices[i]) = choose(branch, &all[i + 1], &all[branch.second as usize]);
            }
        }
        LonePlan { branches, choices, costs: all[0] }
    }

    pub fn get(&self) -> Plan<'_> {
        Plan { branches: &self.branches, choices: &self.choices, costs: self.costs }
    }
}

impl Plans {
    /// None yet, of trees over so many references in all.
    pub fn over(references: usize) -> Plans {
        // As many as there can be: systems give memory where it is filled, while lists that grow are there twice when they move.
        let most = 2 * references;
        Plans { branches: Vec::with_capacity(most), choices: Vec::with_capacity(most), ends: Vec::new() }
    }

    pub fn push(&mut self, LonePlan { branches, choices, costs }: LonePlan) {
        self.branches.extend(branches);
        self.choices.extend(choices);
        self.ends.push((self.branches.len(), costs));
    }

    pub fn get(&self, number: usize) -> Plan<'_> {
        let (end, costs) = self.ends[number];
        let all = self.begin(number)..end;
        Plan { branches: &self.branches[all.clone()], choices: &self.choices[all], costs }
    }

    /// Keeps the first ones.
    pub fn truncate(&mut self, count: usize) {
        let end = self.begin(count);
        self.ends.truncate(count);
        self.branches.truncate(end);
        self.branches.shrink_to_fit();
        self.choices.truncate(end);
        self.choices.shrink_to_fit();
    }

    fn begin(&self, number: usize) -> usize {
        if number == 0 { 0 } else { self.ends[number - 1].0 }
    }
}

impl Plan<'_> {
    /// Whether a branch in one slot is a leaf there.
    pub fn is_leaf(&self, branch: u32) -> bool {
        self.choices[branch as usize].leaf
    }

    /// The children of the node that a branch with children becomes.
    pub fn children(&self, branch: u32) -> SmallVec<[Share; WIDTH]> {
        let mut children = SmallVec::new();
        self.spread(branch, WIDTH, &mut children);
        children
    }

    /// What stands in up to so many slots for a branch.
    pub fn shares(&self, branch: u32, slots: usize) -> SmallVec<[Share; WIDTH]> {
        let mut shares = SmallVec::new();
        self.take(branch, slots, &mut shares);
        shares
    }

    fn take(&self, branch: u32, mut slots: usize, shares: &mut SmallVec<[Share; WIDTH]>) {
        if self.branches[branch as usize].second == 0 {
            return shares.push(Share { branch, slots });
        }
        let first = &self.choices[branch as usize].first;
        while slots > 1 && first[slots - 2] == 0 {
            slots -= 1;
        }
        match slots {
            1 => shares.push(Share { branch, slots }),
            _ => self.spread(branch, slots, shares),
        }
    }

    fn spread(&self, branch: u32, slots: usize, shares: &mut SmallVec<[Share; WIDTH]>) {
        let first = self.choices[branch as usize].first[slots - 2] as usize;
        self.take(branch + 1, first, shares);
        self.take(self.branches[branch as usize].second, slots - first, shares);
    }
}

/// What a leaf costs.
pub fn leaf_costs(branch: &Branch) -> Costs {
    [branch.extent.half_area() * f64::from(branch.weight.div_ceil(BLOCK)); WIDTH - 1]
}

fn choose(branch: &Branch, first: &Costs, second: &Costs) -> (Costs, Choice) {
    let (mut costs, mut choice) = ([0.0; WIDTH - 1], Choice { first: [0; WIDTH - 1], leaf: false });
    // What 2, 3, … 8 slots cost if the children share all of them.
    let mut spread = [0.0; WIDTH - 1];
    for slots in 2..=WIDTH {
        let mut best = (first[0] + second[slots - 2], 1);
        for k in 2..slots {
            let cost = first[k - 1] + second[slots - k - 1];
            if cost < best.0 {
                best = (cost, k as u8);
            }
        }
        (spread[slots - 2], choice.first[slots - 2]) = best;
    }
    let [leaf, ..] = leaf_costs(branch);
    let node = branch.extent.half_area() * NODE + spread[WIDTH - 2];
    choice.leaf = branch.weight <= LEAF && leaf <= node;
    costs[0] = if choice.leaf { leaf } else { node };
    for slots in 2..WIDTH {
        costs[slots - 1] = spread[slots - 2];
        if costs[slots - 2] <= spread[slots - 2] {
            (costs[slots - 1], choice.first[slots - 2]) = (costs[slots - 2], 0);
        }
    }
    (costs, choice)
}
