package capacity

import "math/bits"

// Levels with few domains are scanned: a scan of 64 counts costs no more than a look-up.
// Counts beyond mostBuckets are of pods so small that nobody packs them by topology; a
// level where one occurs is scanned too, from then on.
const (
	fewDomains  = 64
	mostBuckets = 1 << 13
)

// bucket holds the domains of one level by count: for every count that occurs, the set
// of domains with it, as bits in the order of their names. Domains without room are in
// none.
type bucket struct {
	words  int32    // of one set; 0: the level is scanned
	slotOf []int32  // by count: 1 + the set, 0 if the count does not occur
	used   []uint64 // bit set of the counts that occur
	sets   []uint64 // words each
	size   []int32  // by set: members
	low    []int32  // by set: no word before this one has members
	free   []int32  // sets not in use, all clear
}

func (b *bucket) init(domains int32) {
	if domains > fewDomains {
		b.words = (domains + 63) / 64
	}
}

func (b *bucket) reset() {
	clear(b.slotOf)
	clear(b.used)
	clear(b.sets)
	b.free = b.free[:0]
	for i := len(b.size) - 1; i >= 0; i-- {
		b.size[i] = 0
		b.free = append(b.free, int32(i))
	}
}

// insert puts the domain of a rank into the set of a count.
func (b *bucket) insert(rank, count int32) {
	if b.words == 0 || count == 0 {
		return
	}
	if count >= mostBuckets {
		*b = bucket{}
		return
	}
	if int(count) >= len(b.slotOf) {
		b.grow(count)
	}
	slot := b.slotOf[count] - 1
	word := rank >> 6
	if slot < 0 {
		slot = b.newSet(word)
		b.slotOf[count] = slot + 1
		b.used[count>>6] |= 1 << (count & 63)
	}
	b.sets[slot*b.words+word] |= 1 << (rank & 63)
	b.size[slot]++
	b.low[slot] = min(b.low[slot], word)
}

// grow makes room for counts up to a new highest one.
func (b *bucket) grow(count int32) {
	n := (int(count) + 64) &^ 63
	b.slotOf = append(b.slotOf, make([]int32, n-len(b.slotOf))...)
	b.used = append(b.used, make([]uint64, n>>6-len(b.used))...)
}

func (b *bucket) newSet(word int32) int32 {
	if n := len(b.free); n > 0 {
		slot := b.free[n-1]
		b.free = b.free[:n-1]
		b.low[slot] = word
		return slot
	}
	b.sets = append(b.sets, make([]uint64, b.words)...)
	b.size = append(b.size, 0)
	b.low = append(b.low, word)
	return int32(len(b.size) - 1)
}

// remove takes the domain of a rank out of the set of a count.
func (b *bucket) remove(rank, count int32) {
	if b.words == 0 || count == 0 {
		return
	}
	slot := b.slotOf[count] - 1
	b.sets[slot*b.words+rank>>6] &^= 1 << (rank & 63)
	if b.size[slot]--; b.size[slot] == 0 {
		b.slotOf[count] = 0
		b.used[count>>6] &^= 1 << (count & 63)
		b.free = append(b.free, slot)
	}
}

// atLeast returns the smallest count that occurs and is not less, or -1.
func (b *bucket) atLeast(count int32) int32 {
	word := count >> 6
	if int(word) >= len(b.used) {
		return -1
	}
	rest := b.used[word] >> (count & 63) << (count & 63)
	for rest == 0 {
		if word++; int(word) == len(b.used) {
			return -1
		}
		rest = b.used[word]
	}
	return word<<6 + int32(bits.TrailingZeros64(rest))
}

// atMost returns the largest count that occurs and is not more, or -1.
func (b *bucket) atMost(count int32) int32 {
	word := int32(len(b.used) - 1)
	rest := ^uint64(0)
	if count>>6 <= word {
		word = count >> 6
		rest >>= 63 - count&63
	}
	for ; word >= 0; word-- {
		if rest &= b.used[word]; rest != 0 {
			return word<<6 + 63 - int32(bits.LeadingZeros64(rest))
		}
		rest = ^uint64(0)
	}
	return -1
}

// first returns the lowest rank in the set of a count that occurs.
func (b *bucket) first(count int32) int32 {
	slot := b.slotOf[count] - 1
	set := b.sets[slot*b.words : (slot+1)*b.words]
	word := b.low[slot]
	for set[word] == 0 {
		word++
	}
	b.low[slot] = word
	return word<<6 + int32(bits.TrailingZeros64(set[word]))
}
