//! `casefile-standin`: does nothing for ever, with whatever arguments. Copied to a program's path it
//! stands in for that program where only its name and arguments are looked at.

fn main() {
    loop {
        std::thread::park();
    }
}
