//! The smallest simulation: one resource, one system, a hundred ticks.
#![expect(clippy::print_stdout, reason = "an example that reports to its user")]

use voxtick::prelude::*;

#[derive(Resource)]
struct Greetings(u64);

struct Hello;

impl Plugin for Hello {
    fn name(&self) -> &'static str {
        "hello"
    }

    fn build(self: Box<Self>, setup: &mut Setup<'_>) -> Result<(), BuildError> {
        setup.resource(Greetings(0)).stage(Stage::new("hello")).system("hello", greet);
        Ok(())
    }
}

fn greet(mut greetings: ResMut<Greetings>, meter: Res<Meter>) {
    greetings.0 += 1;
    meter.items(1);
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut simulation = Simulation::builder().plugin(Hello).build()?;
    simulation.run(100)?;
    println!("{} greetings\n{}", simulation.world().resource::<Greetings>().0, simulation.summary());
    Ok(())
}
