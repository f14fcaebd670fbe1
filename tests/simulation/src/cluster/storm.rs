//! The weather: cuts, crashes, restarts, pauses, jumping clocks, and who hears of them when.

use std::time::Duration;

use super::{Cluster, Event, Phase};
use crate::bugs::Bug;
use crate::history::Answer;
use crate::running::Purpose;

/// How often the weather may do something.
pub(super) const STROKE: Duration = Duration::from_millis(10);

impl Cluster {
    pub(super) fn stroke(&mut self) {
        if self.phase != Phase::Storm {
            return;
        }
        self.queue.push(STROKE, Event::Stroke);
        if self.is_cut {
            if self.random.chance(600) {
                self.heal();
            }
        } else if self.random.chance(self.weather.partition) {
            self.is_cut = true;
            self.network.cut(&mut self.faults);
            self.note(format_args!("cut"));
            self.tell_everyone();
        }
        if self.random.chance(self.weather.crash) {
            let node = self.any_node();
            self.crash(node);
        }
        if self.random.chance(self.weather.pause) {
            let node = self.any_node();
            let length = Duration::from_millis(self.random.between(5, 150));
            let until = self.queue.now() + length;
            self.nodes[node].paused_until = self.nodes[node].paused_until.max(until);
            self.faults.pauses += 1;
            self.note(format_args!("n{node} stands still for {length:?}"));
        }
        if self.random.chance(self.weather.jump) {
            let node = self.any_node();
            self.nodes[node].jump(&mut self.random);
            self.faults.jumps += 1;
            self.note(format_args!("n{node} sets its clocks"));
        }
    }

    /// No more faults: all nodes run and hear each other.
    pub(super) fn calm(&mut self) {
        self.note(format_args!("calm"));
        self.phase = Phase::Calm;
        self.is_cut = false;
        self.network.calm();
        for node in 0..self.nodes.len() {
            self.nodes[node].paused_until = self.nodes[node].paused_until.min(self.queue.now());
            if !self.nodes[node].alive {
                self.restart(node);
            }
        }
        self.tell_everyone();
    }

    fn any_node(&mut self) -> usize {
        self.random.below(self.nodes.len() as u64) as usize
    }

    fn heal(&mut self) {
        self.is_cut = false;
        self.network.heal();
        self.note(format_args!("heal"));
        self.tell_everyone();
    }

    /// Has every node look at every other, each sooner or later.
    fn tell_everyone(&mut self) {
        for about in 0..self.nodes.len() {
            self.tell(about);
        }
    }

    fn tell(&mut self, about: usize) {
        for node in (0..self.nodes.len()).filter(|node| *node != about) {
            let after = Duration::from_millis(self.random.between(1, 120));
            self.queue.push(after, Event::Notice(node, about));
        }
    }

    pub(super) fn notice(&mut self, node: usize, about: usize) {
        let alive = self.nodes[about].alive && self.network.connects(node, about);
        let id = self.nodes[about].id;
        let believes = &mut self.nodes[node].believes;
        if believes.contains(id) == alive {
            return;
        }
        if alive {
            believes.insert(id);
        } else {
            believes.remove(id);
        }
        let state = if alive { "up" } else { "down" };
        self.note(format_args!("n{node} hears that n{about} is {state}"));
    }

    fn crash(&mut self, node: usize) {
        if !self.nodes[node].alive {
            return;
        }
        let now = self.queue.now();
        let crashed = &mut self.nodes[node];
        crashed.alive = false;
        crashed.paused_until = crashed.paused_until.min(now);
        let lost = crashed.replica.crash(now, &mut self.random);
        self.faults.crashes += 1;
        self.faults.unsynced += lost;
        let running = std::mem::take(&mut crashed.running);
        self.note(format_args!("n{node} crashes, {lost} requests unsynced"));
        // Clients see their connections break.
        for purpose in running.into_values().map(|running| running.purpose) {
            if let Purpose::Client { record, client } = purpose {
                self.answer(record, client, Answer::Unknown("connection lost"));
            }
        }
        let after = Duration::from_millis(self.random.between(10, 400));
        self.queue.push(after, Event::Restart(node));
        self.tell(node);
    }

    pub(super) fn restart(&mut self, node: usize) {
        if self.nodes[node].alive {
            return;
        }
        self.nodes[node].alive = true;
        if self.bug == Some(Bug::HintLostAtRestart) {
            let hosts: Vec<u128> = self.nodes[node].hints.hosts().collect();
            for host in hosts {
                self.nodes[node].hints.forget(host);
            }
        }
        self.note(format_args!("n{node} restarts"));
        for about in 0..self.nodes.len() {
            self.notice(node, about);
        }
        self.tell(node);
    }
}
